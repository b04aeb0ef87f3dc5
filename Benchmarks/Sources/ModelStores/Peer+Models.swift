import Harness
public import PeerStores

extension Peer {
  /// Models in a LogStore.
  public static let models = Peer(.models, ModelTrips.settings) { try ModelTrips($0, $1) }
}
