public import Harness

/// A peer refused.
public struct PeerError: Error, CustomStringConvertible {
  public let description: String

  public init(_ peer: Contender, _ message: String) { description = "\(peer.rawValue): \(message)" }
}
