package import LogEngine

/// Which calls of a simulated file system fail, and how.
package struct FaultPlan: Sendable {
  package var faults: [Fault] = []
  /// Whether writes come up short: each then takes some of the bytes it is given, by lot.
  package var hasShortWrites = false
  /// Whether the device is full: no file grows, and what a file has can be written over.
  package var isFull = false
  /// How many bytes all files together may have; `nil` for any number.
  package var capacity: Int?
  /// What the disk promises and does not do.
  package var lies: Lies = []

  package init(_ faults: [Fault] = []) { self.faults = faults }

  /// The fault that strikes a call, if any.
  func fault(at number: Int, of operation: FileOperation, _ path: String) -> Fault? {
    faults.first { fault in
      guard fault.operation == operation, fault.path.map({ $0 == path }) ?? true else {
        return false
      }
      switch fault.duration {
      case .once: return fault.number == number
      case .forEver: return fault.number <= number
      }
    }
  }
}

/// One kind of call that fails from some call on.
package struct Fault: Sendable, Hashable {
  package var operation: FileOperation
  /// Which call of its kind, from 1.
  package var number: Int
  package var duration: Duration
  package var effect: Effect
  /// The only path it strikes; any, if `nil`.
  package var path: String?

  package enum Duration: Sendable, Hashable { case once, forEver }

  package enum Effect: Sendable, Hashable {
    /// The call fails with this number, having done some of its work or none.
    ///
    /// A file whose synchronization fails has its pending writes counted as done, and reads show them,
    /// but some or all of them never reach the disk.
    case error(Int32)
    /// There is no room.
    case noSpace
    /// A write lands so many bytes from where it should, and nobody is told.
    case misdirected(by: Int)
  }

  package init(
    _ operation: FileOperation,
    number: Int,
    _ duration: Duration = .once,
    _ effect: Effect = .error(5),
    path: String? = nil
  ) {
    self.operation = operation
    self.number = number
    self.duration = duration
    self.effect = effect
    self.path = path
  }
}

/// Promises a disk makes and breaks: faults planted to see that they are found.
package struct Lies: OptionSet, Sendable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }

  /// Synchronizing a directory does nothing.
  package static let directorySync = Lies(rawValue: 1)
  /// Synchronizing a file does nothing.
  package static let fileSync = Lies(rawValue: 2)
}
