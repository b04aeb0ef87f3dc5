import Harness
import PeerStores

Child.runIfAsked()

runGroup("Peers") { plan, report in
  let peers = Peer.all
  let missing = [Contender.sqlite, .grdb, .lmdb, .leveldb, .rocksdb].filter { contender in
    !peers.contains { $0.contender == contender }
  }
  for contender in missing {
    report.note("\(contender.rawValue) takes no part: its library is not installed")
  }
  try Commits(plan, peers).run(report)
  try withFolder(plan, "filled") { try FilledPeers(plan, peers, $0).run(report) }
  try DeviceWrites(plan, peers).run(report)
  try Scaling(plan, peers).run(report)
}
