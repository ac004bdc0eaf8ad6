"""One folder per study: what it runs beside what it says of it."""
