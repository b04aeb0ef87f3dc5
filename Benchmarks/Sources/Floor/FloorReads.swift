import Glibc
public import Workloads

/// The least a reader can do: an offset from a flat array, and the row in a mapping.
public final class FloorReads {
  private let offsets: [Int]
  private let mapping: UnsafeRawBufferPointer

  /// Writes records to a file and maps it.
  ///
  /// - Parameters:
  ///   - path: The path; a new file.
  ///   - count: The number of rows.
  ///   - record: The record of a key; keys begin at 1.
  /// - Throws: ``SystemCallError``.
  public init(path: String, count: Int, _ record: (UInt64) -> TripRecord) throws {
    guard let file = fopen(path, "w+") else { throw SystemCallError("fopen") }
    defer { fclose(file) }
    var coding = PlainCoding()
    var offsets = [0]
    for key in 1...UInt64(count) {
      let bytes = coding.encode(record(key))
      guard fwrite(bytes.baseAddress, 1, bytes.count, file) == bytes.count else {
        throw SystemCallError("fwrite")
      }
      offsets.append((offsets.last ?? 0) + bytes.count)
    }
    guard fflush(file) == 0 else { throw SystemCallError("fflush") }
    let length = offsets.last ?? 0
    let base = mmap(nil, length, PROT_READ, MAP_SHARED, fileno(file), 0)
    guard base != MAP_FAILED else { throw SystemCallError("mmap") }
    mapping = UnsafeRawBufferPointer(start: base, count: length)
    self.offsets = offsets
  }

  deinit { munmap(UnsafeMutableRawPointer(mutating: mapping.baseAddress), mapping.count) }

  /// Reads a record and decodes all of it.
  public func read(_ key: UInt64) -> Int { PlainCoding.decode(row(key)).checksum }

  /// Reads one attribute.
  public func readRating(_ key: UInt64) -> Int { Int(PlainCoding.rating(row(key))) }

  /// Counts the trips to a destination with a rating above another.
  public func count(destination: String, ratingAbove rating: Int64) -> Int {
    let wanted = Array(destination.utf8)
    var count = 0
    for key in 1..<UInt64(offsets.count) {
      let row = row(key)
      if PlainCoding.rating(row) > rating, PlainCoding.destination(row).elementsEqual(wanted) {
        count += 1
      }
    }
    return count
  }

  /// Reads the records that start first.
  public func readEarliest(_ count: Int) -> Int {
    var earliest = EarliestTrips(count)
    for key in 1..<UInt64(offsets.count) {
      earliest.offer(key, start: PlainCoding.startDate(row(key)))
    }
    return earliest.keys.reduce(0) { $0 + read($1) }
  }

  /// Reads the first records.
  public func readFirst(_ count: Int) -> Int {
    (1...UInt64(count)).reduce(0) { $0 + read($1) }
  }

  private func row(_ key: UInt64) -> UnsafeRawBufferPointer {
    let index = Int(key)
    return UnsafeRawBufferPointer(rebasing: mapping[offsets[index - 1]..<offsets[index]])
  }
}
