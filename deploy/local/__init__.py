"""The local cluster: ZooKeeper and brokers as plain processes below one directory, on loopback."""
