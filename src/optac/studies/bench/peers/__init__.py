"""Scripts that run other people's libraries, each under an interpreter that has it; none imports optac."""
