"""A real Prometheus scrapes a real engine while somebody types, and is asked what the dashboard of Grafana asks."""
