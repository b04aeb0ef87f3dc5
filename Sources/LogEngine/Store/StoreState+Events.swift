import LogFormat

// Functions that errors pass through to be reported as events.
extension StoreState {
  /// Runs `body`, which reads the store, and reports damage that it finds; call it under no lock.
  ///
  /// Costs nothing if nothing is thrown.
  @inline(__always)
  func watchingReads<R>(_ body: () throws -> R) rethrows -> R {
    do {
      return try body()
    } catch {
      reportDamage(error)
      throw error
    }
  }

  /// Runs `body`, which writes to the store, and reports its failure; call it under no lock.
  ///
  /// Costs nothing if nothing is thrown.
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
  /// Not inlined, so that the paths without errors stay short.
  @inline(never)
  func reportDamage(_ error: any Error) {
    // Errors of callers' closures come through here, too, perhaps of another store.
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
  /// Whether the error means that nothing can be saved any more.
  var isPoisoning: Bool {
    if case .poisoned = self { true } else { false }
  }

  /// The file that is damaged, missing or unreadable according to the error.
  fileprivate var damagedPath: String? {
    switch self {
    case .corruption(let corruption): corruption.path
    case .inputOutput(let path, _, _), .missingFile(let path): path
    default: nil
    }
  }
}
