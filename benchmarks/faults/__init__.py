"""What is lost, doubled or out of order when the program is killed again and again."""
