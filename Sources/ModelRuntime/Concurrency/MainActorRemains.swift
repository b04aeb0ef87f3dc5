/// Values that belong to the main actor, left behind by an object that was freed on another thread.
struct MainActorRemains {
  private final class Values {
    let values: [Any?]

    init(_ values: [Any?]) { self.values = values }
  }

  // Held by address: a reference kept here could be the last one, and on the wrong thread.
  private let address: UInt

  /// Keeps values; the caller must no longer hold them when it releases them.
  init(_ values: [Any?]) {
    address = unsafe UInt(bitPattern: Unmanaged.passRetained(Values(values)).toOpaque())
  }

  /// Releases the values at the main actor's next turn.
  func release() {
    Task { @MainActor [address] in
      guard let values = unsafe UnsafeRawPointer(bitPattern: address) else { return }
      unsafe Unmanaged<Values>.fromOpaque(values).release()
    }
  }
}
