/// A large value that takes no room: its bytes are made when they are wanted.
package struct Photo: Hashable, Sendable {
  package var seed: UInt64
  package var byteCount: Int

  package init(seed: UInt64, byteCount: Int) {
    self.seed = seed
    self.byteCount = byteCount
  }

  package var bytes: [UInt8] {
    var random = SeededGenerator(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount + 8)
    while bytes.count < byteCount {
      let word = random.next()
      for shift in stride(from: 0, to: 64, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
    bytes.removeLast(bytes.count - byteCount)
    return bytes
  }
}

/// What a row of a ``PhotoStore`` holds.
package struct PhotoRow: Hashable, Sendable {
  package var title: String
  package var photo: Photo?

  package init(title: String, photo: Photo? = nil) {
    self.title = title
    self.photo = photo
  }
}
