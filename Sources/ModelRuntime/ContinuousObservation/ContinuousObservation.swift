// SE-0506's continuous observation, for older toolchains: Swift 6.4 has it in Observation itself, and then
// nothing of this file is compiled. Sources spell both alike. Apple's platforms have it from the same release on.
#if compiler(<6.4) && !canImport(Darwin)
// Only the tracking that SwiftUI uses reports the changed property. The toolchains in question are already released,
// so it cannot change any more.
@_spi(SwiftUI) import Observation
import Synchronization

/// Calls a closure now, and again after each change of a property that it read the last time.
///
/// ```swift
/// token = withContinuousObservation(options: .didSet) { [weak self] event in
///   self?.title.text = trip.name
///   if event.matches(\Trip.name) { self?.title.flash() }
/// }
/// ```
///
/// The closure runs in the isolation that it was written in, at that actor's next turn and never during the call.
/// Changes before its turn are one event, which matches the key path of each.
///
/// - Parameters:
///   - options: The changes that count; without any, the closure is called once.
///   - apply: Reads the observed properties.
/// - Returns: The token of the observation, which ends with it.
public func withContinuousObservation(
  options: ObservationTracking.Options,
  @_inheritActorContext apply:
    @escaping @isolated(any) @Sendable (
      borrowing ObservationTracking.Event
    ) -> Void
) -> ObservationTracking.Token {
  let observation = ContinuousObservation(options, apply)
  observation.schedule()
  return ObservationTracking.Token(observation)
}

/// The namespace of continuous observation.
public enum ObservationTracking {
  /// The changes that an observation reports.
  ///
  /// The option `deinit` of Swift 6.4 is missing: the tracking of older toolchains does not report the end of an object.
  public struct Options: SetAlgebra, Sendable {
    private var members: MemberSet

    private struct MemberSet: OptionSet {
      let rawValue: UInt8
      static let willSet = MemberSet(rawValue: 1)
      static let didSet = MemberSet(rawValue: 2)
    }

    /// Before a property changes.
    public static var willSet: Options { Options(.willSet) }
    /// After a property has changed.
    public static var didSet: Options { Options(.didSet) }

    public init() { members = [] }
    private init(_ members: MemberSet) { self.members = members }

    public func contains(_ member: Options) -> Bool { members.isSuperset(of: member.members) }
    public func union(_ other: Options) -> Options { Options(members.union(other.members)) }
    public func intersection(_ other: Options) -> Options {
      Options(members.intersection(other.members))
    }
    public func symmetricDifference(_ other: Options) -> Options {
      Options(members.symmetricDifference(other.members))
    }
    public mutating func formUnion(_ other: Options) { self = union(other) }
    public mutating func formIntersection(_ other: Options) { self = intersection(other) }
    public mutating func formSymmetricDifference(_ other: Options) {
      self = symmetricDifference(other)
    }
    @discardableResult
    public mutating func insert(
      _ newMember: Options
    ) -> (inserted: Bool, memberAfterInsert: Options) {
      let result = members.insert(newMember.members)
      return (result.inserted, Options(result.memberAfterInsert))
    }
    @discardableResult
    public mutating func remove(_ member: Options) -> Options? {
      members.remove(member.members).map(Options.init)
    }
    @discardableResult
    public mutating func update(with newMember: Options) -> Options? {
      members.update(with: newMember.members).map(Options.init)
    }
  }

  /// The reason for a call of an observation's closure.
  public struct Event: ~Copyable {
    /// The kind of an event.
    public struct Kind: Equatable, Sendable {
      private let number: UInt8
      /// The observation begins.
      public static var initial: Kind { Kind(number: 0) }
      /// A property was about to change.
      public static var willSet: Kind { Kind(number: 1) }
      /// A property has changed.
      public static var didSet: Kind { Kind(number: 2) }
    }

    /// The kind of the event; of several changes, the first one's.
    public let kind: Kind
    fileprivate let changes: Set<AnyKeyPath>
    fileprivate let observation: ContinuousObservation

    /// Whether a property changed since the closure was last called.
    public func matches(_ keyPath: PartialKeyPath<some Observable>) -> Bool {
      changes.contains(keyPath)
    }

    /// Ends the observation.
    public func cancel() { observation.cancel() }
  }

  /// The lifetime of an observation: keep it as long as the closure should be called.
  public struct Token: ~Copyable {
    private let observation: ContinuousObservation

    fileprivate init(_ observation: ContinuousObservation) { self.observation = observation }

    /// Ends the observation.
    public consuming func cancel() {}

    deinit { observation.cancel() }
  }
}

/// The state of one observation, which its token owns.
private final class ContinuousObservation: Sendable {
  typealias Apply = @isolated(any) @Sendable (borrowing ObservationTracking.Event) -> Void

  private struct State {
    var isCancelled = false
    var isScheduled = false
    /// The properties that changed since the closure was last called, and the kind of the first change.
    var changes = Set<AnyKeyPath>()
    var kind = ObservationTracking.Event.Kind.initial
    /// The tracking of the last reads, once one of the read properties has changed.
    var tracking: Observation.ObservationTracking?
  }

  private let options: ObservationTracking.Options
  private let apply: Apply
  private let state = Mutex(State())

  init(_ options: ObservationTracking.Options, _ apply: @escaping Apply) {
    self.options = options
    self.apply = apply
  }

  func cancel() {
    let tracking = state.withLock { state in
      state.isCancelled = true
      return state.tracking.take()
    }
    tracking?.cancel()
  }

  /// Schedules a call of the closure at its actor's next turn.
  func schedule() {
    Task { [weak self] in await self?.run(isolation: self?.apply.isolation) }
  }

  private func run(isolation: isolated (any Actor)?) {
    let (state, isCancelled) = self.state.withLock { state in
      defer {
        state.isScheduled = false
        state.changes = []
        state.tracking = nil
      }
      return (state, state.isCancelled)
    }
    state.tracking?.cancel()
    if isCancelled { return }
    // This runs in the closure's isolation, so it needs no await.
    let call = unsafe unsafeBitCast(Isolated(function: apply), to: Plain.self).function
    let event = ObservationTracking.Event(
      kind: state.kind,
      changes: state.changes,
      observation: self
    )
    track { call(event) }
  }

  private func track(_ body: () -> Void) {
    // Held weakly: a property that never changes again must not keep the closure.
    let willSet: @Sendable (Observation.ObservationTracking) -> Void = { [weak self] in
      self?.note(.willSet, $0)
    }
    let didSet: @Sendable (Observation.ObservationTracking) -> Void = { [weak self] in
      self?.note(.didSet, $0)
    }
    switch (options.contains(.willSet), options.contains(.didSet)) {
    case (true, true): withObservationTracking(body, willSet: willSet, didSet: didSet)
    case (true, false): withObservationTracking(body, willSet: willSet)
    case (false, true): withObservationTracking(body, didSet: didSet)
    case (false, false): body()
    }
  }

  /// Reports a change to the closure, on whichever thread it was made.
  private func note(
    _ kind: ObservationTracking.Event.Kind,
    _ tracking: Observation.ObservationTracking
  ) {
    let isFirst = state.withLock { state -> Bool? in
      if state.isCancelled { return nil }
      if let property = tracking.changed { state.changes.insert(property) }
      if state.isScheduled { return false }
      state.isScheduled = true
      state.kind = kind
      state.tracking = tracking
      return true
    }
    switch isFirst {
    case nil: tracking.cancel()
    case true?: schedule()
    case false?: break
    }
  }

  // One function with and without its isolation; in structures, because a bare function is wrapped when it
  // becomes a generic argument.
  private struct Isolated { let function: Apply }
  private struct Plain { let function: @Sendable (borrowing ObservationTracking.Event) -> Void }
}
#endif
