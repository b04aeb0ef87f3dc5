import Foundation
import Synchronization

/// Stands between the clients of a server and its socket, and cuts, delays and splits what passes.
///
/// Where a fault strikes is said in bytes of one direction, counted over all connections: what happens to a client that
/// does the same once more is the same, but for how its threads take turns. Pieces and delays come from the seed.
public final class FaultProxy: Sendable {
  /// The folder in which clients find the socket.
  public let folder: String
  private let target: String
  private let listener: Int32
  private let seed: UInt64
  private let splitting: Splitting?
  /// Between which numbers of bytes connections are cut by themselves.
  private let recurring: ClosedRange<Int>?
  private let state: Mutex<State>
  private let isHeld = Gate()

  private struct State {
    var passed = [0, 0]
    var armed: (direction: Direction, at: Int, fault: Fault)?
    var armedByText: (text: [UInt8], fault: Fault, isAhead: Bool)?
    var counted: (text: [UInt8], count: Int)?
    var struckCount = 0
    var refuses = false
    var isClosed = false
    var made: UInt64 = 0
    var links: [ObjectIdentifier: Link] = [:]
    var held: [HeldBytes] = []
    var random: SplitMix
  }

  private struct HeldBytes {
    let link: Link
    let bytes: [UInt8]
  }

  /// Begins to listen.
  ///
  /// - Parameters:
  ///   - folder: Where to make the socket; short, and removed by ``close()``.
  ///   - server: The folder in which the server has its socket.
  ///   - seed: Where pieces and delays come from.
  ///   - splitting: How bytes are split and delayed; by default they pass as they come.
  ///   - recurring: Between which numbers of bytes some connection is cut, again and again; by default none is.
  /// - Throws: `SocketError`.
  public init(
    in folder: String,
    to server: String,
    seed: UInt64,
    splitting: Splitting? = nil,
    recurring: ClosedRange<Int>? = nil
  ) throws {
    self.folder = folder
    self.seed = seed
    self.splitting = splitting
    self.recurring = recurring
    target = FaultProxy.socket(in: server)
    state = Mutex(State(random: SplitMix(seed)))
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    listener = try UnixSocket.listen(at: FaultProxy.socket(in: folder))
    state.withLock { rearm(&$0) }
    Thread.detachNewThread { [self] in acceptAll() }
  }

  private static func socket(in folder: String) -> String { "\(folder)/.s.PGSQL.5432" }

  // MARK: Faults

  /// Has a fault strike once so many more bytes have passed in a direction, in whatever connection that is.
  public func arm(_ fault: Fault, in direction: Direction, after count: Int) {
    state.withLock { $0.armed = (direction, $0.passed[direction.rawValue] + count, fault) }
  }

  /// Has a fault strike once behind bytes for the server that contain a text, as far as these come in one piece.
  public func arm(_ fault: Fault, behind text: String) {
    state.withLock { $0.armedByText = (Array(text.utf8), fault, false) }
  }

  /// Has a fault strike once before bytes for the server pass that contain a text, as far as these come in one piece.
  public func arm(_ fault: Fault, aheadOf text: String) {
    state.withLock { $0.armedByText = (Array(text.utf8), fault, true) }
  }

  /// Counts from now on, over all connections, the pieces that pass to the server and contain a text.
  public func count(_ text: String) { state.withLock { $0.counted = (Array(text.utf8), 0) } }

  /// The number of such pieces so far.
  public var countedCount: Int { state.withLock { $0.counted?.count ?? 0 } }

  /// Takes back a fault that has not struck.
  public func disarm() { state.withLock { ($0.armed, $0.armedByText) = (nil, nil) } }

  /// Whether a fault waits for its byte.
  public var isArmed: Bool { state.withLock { $0.armed != nil } }
  /// How many faults have struck.
  public var struckCount: Int { state.withLock { $0.struckCount } }
  /// How many bytes have passed in a direction.
  public func passedCount(_ direction: Direction) -> Int {
    state.withLock { $0.passed[direction.rawValue] }
  }

  /// Closes all connections, and from now on each new one at once; until ``admit()``.
  public func refuse() {
    let links = state.withLock { state in
      state.refuses = true
      return Array(state.links.values)
    }
    for link in links { link.cut() }
  }

  public func admit() { state.withLock { $0.refuses = false } }

  /// Lets stalled connections go on.
  public func release() { isHeld.open() }

  /// Whether a connection is stalled.
  public var isStalled: Bool { isHeld.isShut }

  /// Delivers to the server what was held back from connections that are gone, and closes them.
  ///
  /// - Returns: How many bytes these were.
  @discardableResult
  public func deliverHeld() -> Int {
    let held = state.withLock { state in
      defer { state.held = [] }
      return state.held
    }
    for part in held {
      _ = UnixSocket.send(part.bytes[...], to: part.link.server)
      // The server reads what came before the end.
      UnixSocket.finishSending(part.link.server)
      part.link.letGo()
    }
    return held.reduce(0) { $0 + $1.bytes.count }
  }

  /// Ends all connections, and listens no more.
  public func close() {
    let links = state.withLock { state in
      state.isClosed = true
      return Array(state.links.values)
    }
    UnixSocket.shut(listener)
    isHeld.open()
    for link in links { link.cut() }
    deliverHeld()
    try? FileManager.default.removeItem(atPath: FaultProxy.socket(in: folder))
    rmdir(folder)
  }

  // MARK: Connections

  private func acceptAll() {
    while let client = UnixSocket.accept(listener) {
      let isWelcome = state.withLock { !$0.refuses && !$0.isClosed }
      guard isWelcome, let server = try? UnixSocket.connect(to: target) else {
        Glibc.close(client)
        continue
      }
      let link = Link(client: client, server: server)
      let number = state.withLock { state -> UInt64 in
        state.links[ObjectIdentifier(link)] = link
        state.made += 1
        return state.made
      }
      for direction in Direction.allCases {
        let random = SplitMix(seed &+ number << 1 &+ UInt64(direction.rawValue))
        Thread.detachNewThread { [self] in
          pump(link, direction, random)
          if link.letGo() { state.withLock { $0.links[ObjectIdentifier(link)] = nil } }
        }
      }
    }
    Glibc.close(listener)
  }

  /// Passes on what comes, until an end is closed.
  private func pump(_ link: Link, _ direction: Direction, _ random: SplitMix) {
    var random = random
    let (source, sink) =
      direction == .toServer ? (link.client, link.server) : (link.server, link.client)
    while let bytes = UnixSocket.receive(from: source) {
      var rest = bytes[...]
      while !rest.isEmpty {
        if link.isStalled { isHeld.wait() }
        let piece = nextPiece(rest.count, &random)
        let (count, fault) = pass(rest.prefix(piece), direction)
        // What the server answers to bytes that were held back, nobody reads.
        let isSent = UnixSocket.send(rest.prefix(count), to: sink) || link.isHeld
        rest = rest.dropFirst(count)
        // It counts as struck, and somebody may wait for it, also where the other end has just gone.
        if !isSent {
          if let fault { _ = strike(fault, link, direction, rest) }
          return link.cut()
        }
        if let fault, strike(fault, link, direction, rest) == .ends { return }
      }
    }
    // Whoever has read all sees the end.
    if !link.isHeld { UnixSocket.finishSending(sink) }
  }

  private func nextPiece(_ available: Int, _ random: inout SplitMix) -> Int {
    guard let splitting else { return available }
    if splitting.delayedPieces > 0,
      Int.random(in: 0..<splitting.delayedPieces, using: &random) == 0
    {
      usleep(UInt32.random(in: 0...splitting.longestDelay, using: &random))
    }
    return min(available, Int.random(in: 1...splitting.longestPiece, using: &random))
  }

  /// Counts bytes.
  ///
  /// - Returns: How many of them pass, and what happens behind them.
  private func pass(
    _ bytes: ArraySlice<UInt8>,
    _ direction: Direction
  ) -> (count: Int, fault: Fault?) {
    let count = bytes.count
    return state.withLock { state in
      let before = state.passed[direction.rawValue]
      if let armed = state.armedByText, direction == .toServer, bytes.contains(armed.text) {
        state.armedByText = nil
        state.struckCount += 1
        if armed.isAhead { return (0, armed.fault) }
        state.passed[direction.rawValue] += count
        return (count, armed.fault)
      }
      if let text = state.counted?.text, direction == .toServer, bytes.contains(text) {
        state.counted?.count += 1
      }
      if let armed = state.armed, armed.direction == direction, armed.at <= before + count {
        state.armed = nil
        state.struckCount += 1
        rearm(&state)
        let passing = max(0, armed.at - before)
        state.passed[direction.rawValue] += passing
        return (passing, armed.fault)
      }
      state.passed[direction.rawValue] += count
      return (count, nil)
    }
  }

  private func rearm(_ state: inout State) {
    guard let recurring, state.armed == nil else { return }
    let direction: Direction = Bool.random(using: &state.random) ? .toServer : .toClient
    let count = Int.random(in: recurring, using: &state.random)
    state.armed = (direction, state.passed[direction.rawValue] + count, .cut)
  }

  private enum Outcome { case goesOn, ends }

  private func strike(
    _ fault: Fault,
    _ link: Link,
    _ direction: Direction,
    _ rest: ArraySlice<UInt8>
  ) -> Outcome {
    switch fault {
    case .cut:
      link.cut()
      return .ends
    case .stall:
      isHeld.shut()
      link.stall()
      return .goesOn
    case .interlude(let body):
      body()
      return .goesOn
    case .late:
      guard direction == .toServer else {
        link.cut()
        return .ends
      }
      let all = Array(rest) + UnixSocket.receiveWhatIsThere(from: link.client)
      link.hold()
      state.withLock { $0.held.append(HeldBytes(link: link, bytes: all)) }
      UnixSocket.shut(link.client)
      return .ends
    }
  }
}

/// The two ends of a connection; closed once the threads of both directions, and who holds bytes back, have let go of it.
private final class Link: Sendable {
  let client: Int32
  let server: Int32
  private let state = Mutex((users: 2, isStalled: false, isHeld: false))

  init(client: Int32, server: Int32) {
    self.client = client
    self.server = server
  }

  var isStalled: Bool { state.withLock { $0.isStalled } }
  func stall() { state.withLock { $0.isStalled = true } }
  var isHeld: Bool { state.withLock { $0.isHeld } }

  func hold() {
    state.withLock { state in
      state.users += 1
      state.isHeld = true
    }
  }

  /// Ends both sides, whoever waits for them.
  func cut() {
    state.withLock { state in
      // Nobody else has the numbers by then.
      if state.users == 0 { return }
      UnixSocket.shut(client)
      UnixSocket.shut(server)
    }
  }

  /// - Returns: Whether that was the last user.
  @discardableResult
  func letGo() -> Bool {
    state.withLock { state in
      state.users -= 1
      guard state.users == 0 else { return false }
      close(client)
      close(server)
      return true
    }
  }
}

extension ArraySlice<UInt8> {
  fileprivate func contains(_ text: [UInt8]) -> Bool { !ranges(of: text).isEmpty }
}

/// Lets threads through when it is open.
private final class Gate: @unchecked Sendable {
  private let condition = NSCondition()
  private var isOpen = true

  var isShut: Bool { condition.withLock { !isOpen } }
  func shut() { condition.withLock { isOpen = false } }

  func open() {
    condition.withLock {
      isOpen = true
      condition.broadcast()
    }
  }

  func wait() {
    condition.withLock { while !isOpen { condition.wait() } }
  }
}
