"""What a store that goes away for a while costs, while people write."""
