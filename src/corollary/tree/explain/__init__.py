"""What a tree says: pictures, rules, contributions of features."""
