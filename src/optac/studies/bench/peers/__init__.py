"""What runs other people's libraries, in processes of their own."""
