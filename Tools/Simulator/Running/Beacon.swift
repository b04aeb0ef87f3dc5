import Foundation

/// Writes down the next step of a worker, so that a crash leaves it behind.
///
/// The schedule so far is in a file, in memory that is mapped: what is written there outlives the
/// process.
final class Beacon {
  private let memory: UnsafeMutableRawBufferPointer
  private var end = 8

  static let byteCount = 1 << 20

  init?(path: String) {
    let file = open(path, O_RDWR | O_CREAT, 0o600)
    guard file >= 0, ftruncate(file, off_t(Self.byteCount)) == 0,
      let base = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0),
      base != MAP_FAILED
    else { return nil }
    close(file)
    memory = UnsafeMutableRawBufferPointer(start: base, count: Self.byteCount)
  }

  deinit { munmap(memory.baseAddress, memory.count) }

  func begin(_ setting: Setting) {
    end = 8
    append(setting)
  }

  func append(_ part: some Encodable) {
    guard var line = try? JSONEncoder().encode(part) else { return }
    line.append(UInt8(ascii: "\n"))
    guard end + line.count <= memory.count else { return }
    line.withUnsafeBytes { bytes in
      let place = UnsafeMutableRawBufferPointer(rebasing: memory[end..<end + bytes.count])
      place.copyMemory(from: bytes)
    }
    end += line.count
    memory.storeBytes(of: UInt64(end), as: UInt64.self)
  }

  /// The schedule that a worker had begun when it ended.
  static func schedule(at path: String) -> Schedule? {
    guard let data = FileManager.default.contents(atPath: path), data.count >= 8 else { return nil }
    let end = data.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    guard end <= data.count, end > 8 else { return nil }
    let lines = data[8..<Int(end)].split(separator: UInt8(ascii: "\n"))
    let decoder = JSONDecoder()
    guard let first = lines.first, let setting = try? decoder.decode(Setting.self, from: first)
    else { return nil }
    return Schedule(
      setting: setting,
      operations: lines.dropFirst().compactMap { try? decoder.decode(Operation.self, from: $0) }
    )
  }
}
