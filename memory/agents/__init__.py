"""Agents that share memory: their registry, pools of shared memories, and handoffs of tasks."""
