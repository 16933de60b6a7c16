"""The pure rules, without a store, a door or a clock."""
