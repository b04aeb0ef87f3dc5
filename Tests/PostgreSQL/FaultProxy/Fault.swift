/// The way of bytes through a proxy.
public enum Direction: Int, Sendable, CaseIterable {
  case toServer, toClient
}

/// What happens to a connection in the middle of its bytes.
public enum Fault: Sendable {
  /// Both ends are closed; what comes behind is lost.
  case cut
  /// The client's end is closed. What it had sent reaches the server when ``FaultProxy/deliverHeld()`` is called, as the
  /// packets of a network do that had another way.
  case late
  /// Nothing passes in either direction, and nobody is told, until ``FaultProxy/release()`` is called.
  case stall
  /// Something is done before the bytes go on: the server is killed, say.
  case interlude(@Sendable () -> Void)
}

/// How a proxy cuts what passes into pieces, and where it waits.
public struct Splitting: Sendable {
  /// The longest piece, in bytes.
  public var longestPiece: Int
  /// One piece of so many waits, on average; 0 for none.
  public var delayedPieces: Int
  /// The longest wait, in microseconds.
  public var longestDelay: UInt32

  public init(longestPiece: Int, delayedPieces: Int = 0, longestDelay: UInt32 = 0) {
    self.longestPiece = longestPiece
    self.delayedPieces = delayedPieces
    self.longestDelay = longestDelay
  }
}
