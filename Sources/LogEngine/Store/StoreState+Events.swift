import LogFormat

// Where errors pass that are events, too.
extension StoreState {
  /// Does something that reads the store, and tells of damage it meets; under no lock.
  ///
  /// Costs nothing where nothing is thrown.
  @inline(__always)
  func watchingReads<R>(_ body: () throws -> R) rethrows -> R {
    do {
      return try body()
    } catch {
      reportDamage(error)
      throw error
    }
  }

  /// Does something that writes to the store, and tells of why it cannot; under no lock.
  ///
  /// Costs nothing where nothing is thrown.
  @inline(__always)
  func watchingWrites<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
    do throws(StorageError) {
      return try body()
    } catch {
      reportFailure(error)
      throw error
    }
  }
}

extension StoreState {
  /// Not inlined, so that the ways that succeed stay short.
  @inline(never)
  func reportDamage(_ error: any Error) {
    // What callers' closures throw comes through here, too, perhaps of another store.
    guard events.isObserved, let error = error as? StorageError, let path = error.damagedPath,
      path.hasPrefix(paths.root + "/")
    else { return }
    events.reportDamage(error)
    events.deliver()
  }

  @inline(never)
  func reportFailure(_ error: StorageError) {
    events.reportLackOfSpace(error, fileSystem.microseconds())
    events.deliver()
  }
}

extension StorageError {
  /// Whether it says that nothing can be saved any more.
  var isPoisoning: Bool {
    if case .poisoned = self { true } else { false }
  }

  /// The file that an error says is damaged, gone or cannot be read.
  fileprivate var damagedPath: String? {
    switch self {
    case .corruption(let corruption): corruption.path
    case .inputOutput(let path, _, _), .missingFile(let path): path
    default: nil
    }
  }
}
