import Foundation
import Harness
import PeerStores
import Workloads

/// A contender and its store, which is open but while it is being opened again.
final class FilledPeer {
  let peer: Peer
  let folder: URL
  private var store: (any TripStore)?

  init(_ peer: Peer, _ folder: URL) throws {
    self.peer = peer
    self.folder = folder
    store = try peer.open(folder, .relaxed)
  }

  var contender: Contender { peer.contender }

  /// The entrant of the same workload to compare with; the engine itself has none.
  func reference(at workload: Workload) -> Entrant.Key? {
    contender == .engine ? nil : .init(workload, .engine)
  }

  func opened() throws -> any TripStore {
    if let store { return store }
    let opened = try peer.open(folder, .relaxed)
    store = opened
    return opened
  }

  func close() throws {
    try store?.close()
    store = nil
  }
}
