"""What people look at: terminal tables and progress, figures. Reads rows and results; runs nothing."""
