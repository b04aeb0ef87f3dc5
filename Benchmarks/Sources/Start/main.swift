import Harness
import ModelStores
import PeerStores

KilledWriter.runIfAsked()

runGroup("Start") { plan, report in
  try withFolder(plan, "process-start") { try ProcessStart(plan, $0).run(report) }
  let installed = Peer.installed.filter { $0.contender != .leveldb }
  let peers = installed.prefix(1) + [.models] + installed.dropFirst()
  try withFolder(plan, "openings") { try Openings(plan, Array(peers), $0).run(report) }
}
