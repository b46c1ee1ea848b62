"""What an endpoint's prefix cache lives on, over whole conversations and real sockets."""
