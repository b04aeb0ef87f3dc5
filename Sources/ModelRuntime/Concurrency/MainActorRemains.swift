/// What belongs to the main actor, and is left behind by an object that went on another thread.
struct MainActorRemains {
  private final class Values {
    let values: [Any?]

    init(_ values: [Any?]) { self.values = values }
  }

  // By its address: a reference kept here could be the last one, and on the wrong thread.
  private let address: UInt

  /// Keeps values; the caller must not hold them any more when it releases them.
  init(_ values: [Any?]) {
    address = unsafe UInt(bitPattern: Unmanaged.passRetained(Values(values)).toOpaque())
  }

  /// Lets go of the values at the main actor's next turn.
  func release() {
    Task { @MainActor [address] in
      guard let values = unsafe UnsafeRawPointer(bitPattern: address) else { return }
      unsafe Unmanaged<Values>.fromOpaque(values).release()
    }
  }
}
