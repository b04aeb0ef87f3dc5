/// The bytes of a file at one moment; a value, whose copies share the pages that do not differ.
package struct FileImage: Sendable {
  package private(set) var size = 0
  /// A page that was never written, or never to anything but zeros, is `nil`.
  private var pages: [Page?] = []

  package init() {}

  /// An image of given bytes.
  package init(_ bytes: [UInt8]) {
    write(bytes, at: 0)
  }

  /// Copies bytes out.
  ///
  /// - Returns: How many: fewer than there is room for only at the end of the file.
  package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let count = max(0, min(target.count, size - offset))
    var done = 0
    while done < count {
      let (page, start) = (offset + done).quotientAndRemainder(dividingBy: Page.byteCount)
      let length = min(count - done, Page.byteCount - start)
      let room = UnsafeMutableRawBufferPointer(rebasing: target[done..<(done + length)])
      if let page = pages[page] {
        room.copyMemory(
          from: UnsafeRawBufferPointer(rebasing: page.bytes[start..<(start + length)])
        )
      } else {
        room.initializeMemory(as: UInt8.self, repeating: 0)
      }
      done += length
    }
    return count
  }

  /// Some of the bytes; zeros stand for what lies beyond the end.
  package func bytes(_ range: Range<Int>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      let raw = UnsafeMutableRawBufferPointer(buffer)
      let read = read(into: raw, at: range.lowerBound)
      UnsafeMutableRawBufferPointer(rebasing: raw[read...])
        .initializeMemory(as: UInt8.self, repeating: 0)
      count = range.count
    }
  }

  package var bytes: [UInt8] { bytes(0..<size) }

  package mutating func write(_ bytes: [UInt8], at offset: Int) {
    bytes.withUnsafeBytes { write($0, at: offset) }
  }

  package mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard !bytes.isEmpty else { return }
    if offset + bytes.count > size { resize(offset + bytes.count) }
    var done = 0
    while done < bytes.count {
      let (page, start) = (offset + done).quotientAndRemainder(dividingBy: Page.byteCount)
      let length = min(bytes.count - done, Page.byteCount - start)
      let part = UnsafeRawBufferPointer(rebasing: bytes[done..<(done + length)])
      if pages[page] != nil || !part.allSatisfy({ $0 == 0 }) {
        withOwnPage(page) {
          UnsafeMutableRawBufferPointer(rebasing: $0[start..<(start + length)])
            .copyMemory(from: part)
        }
      }
      done += length
    }
  }

  /// Cuts the file off, or extends it with zeros.
  package mutating func resize(_ newSize: Int) {
    if newSize < size {
      let (page, start) = newSize.quotientAndRemainder(dividingBy: Page.byteCount)
      pages.removeLast(pages.count - (newSize + Page.byteCount - 1) / Page.byteCount)
      if start > 0, pages[page] != nil {
        withOwnPage(page) {
          UnsafeMutableRawBufferPointer(rebasing: $0[start...])
            .initializeMemory(as: UInt8.self, repeating: 0)
        }
      }
    } else {
      let missing = (newSize + Page.byteCount - 1) / Page.byteCount - pages.count
      if missing > 0 { pages.append(contentsOf: repeatElement(nil, count: missing)) }
    }
    size = newSize
  }

  /// Turns one bit over.
  package mutating func flip(bit: Int) {
    let (page, start) = (bit / 8).quotientAndRemainder(dividingBy: Page.byteCount)
    withOwnPage(page) { $0[start] ^= 1 << UInt8(bit % 8) }
  }

  /// Sixty-four bits that differ when the sizes or the bytes do.
  package var hash: UInt64 {
    var sum = UInt64(size) &+ 1
    for page in pages { sum = mixed(sum &+ (page?.hash ?? Page.hashOfZeros)) }
    return sum
  }

  private mutating func withOwnPage(
    _ index: Int,
    _ change: (UnsafeMutableRawBufferPointer) -> Void
  ) {
    let page: Page
    if isKnownUniquelyReferenced(&pages[index]), let own = pages[index] {
      page = own
    } else {
      page = pages[index].map(Page.init(copying:)) ?? Page()
      pages[index] = page
    }
    change(page.bytes)
    page.forgetHash()
  }
}
