import Harness

/// A peer refused.
struct PeerError: Error, CustomStringConvertible {
  let description: String

  init(_ peer: Contender, _ message: String) { description = "\(peer.rawValue): \(message)" }
}
