"""The first screen of the page: verdict, of whom it speaks, five questions with their answers."""
