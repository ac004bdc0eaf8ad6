"""One folder per study of the paper: what it runs beside what it says of it."""
