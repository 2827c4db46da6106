package migration

// originCluster is how the origin of an entity of kubernetes-ingestor begins; the name of
// the cluster follows.
const originCluster = "cluster origin: "
