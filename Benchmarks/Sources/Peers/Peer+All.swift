import GRDBPeer
import Harness
import ModelStores
import PeerStores

extension Peer {
  /// Everybody who takes part: ours first, then those whose libraries are installed.
  static var all: [Peer] {
    let installed = Peer.installed
    return installed.prefix(1) + [.models] + installed.dropFirst() + grdb
  }

  /// GRDB with Codable records, if SQLite is installed.
  private static var grdb: [Peer] {
    guard GRDBContender.isInstalled else { return [] }
    // Its reads and updates by key make their statement anew each time.
    return [
      Peer(.grdb, GRDBContender.settings, pace: 10) { try GRDBContender.openStore($0, $1) }
    ]
  }
}
