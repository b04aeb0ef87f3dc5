import LogEngine
import LogEngineTestSupport

/// The files of a store as text: lines of hexadecimal, without those that are all zeros.
///
///     LOCK 256
///     0 70726f636573…
///     manifest.0000000000000001 4168
///     …
///
/// The first line of a file gives its path and size, each other one an offset and up to 64 bytes.
enum FileListing {
  private static let lineByteCount = 64

  static func text(of disk: Disk, in directory: String) -> String {
    var lines: [String] = []
    for path in disk.paths {
      guard path.hasPrefix(directory + "/"), let image = disk.image(of: path) else { continue }
      lines.append("\(path.dropFirst(directory.count + 1)) \(image.size)")
      for start in stride(from: 0, to: image.size, by: lineByteCount) {
        let bytes = image.bytes(start..<min(start + lineByteCount, image.size))
        if bytes.contains(where: { $0 != 0 }) { lines.append("\(start) \(hexadecimal(bytes))") }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Creates the files of a listing.
  static func make(_ text: String, in directory: String, on fileSystem: some FileSystem) throws {
    for name in ["", "/log", "/index", "/tmp"] {
      try fileSystem.makeDirectory(directory + name)
    }
    var file: (any OpenFile)?
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2, let number = Int(words[words[0].allSatisfy(\.isNumber) ? 0 : 1])
      else { throw MalformedListing(line: String(line)) }
      if words[0].allSatisfy(\.isNumber) {
        let bytes = try self.bytes(words[1])
        var done = 0
        while done < bytes.count {
          let rest = Array(bytes[done...])
          done += try file?.write(rest.span.bytes, at: number + done) ?? bytes.count
        }
      } else {
        file = try fileSystem.open("\(directory)/\(words[0])", .create)
        try file?.setSize(number)
      }
    }
  }

  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func bytes(_ digits: Substring) throws -> [UInt8] {
    let digits = Array(digits)
    return try stride(from: 0, to: digits.count - 1, by: 2).map { at in
      guard let byte = UInt8(String(digits[at...(at + 1)]), radix: 16) else {
        throw MalformedListing(line: String(digits))
      }
      return byte
    }
  }
}

/// Thrown for a line of a listing that cannot be parsed.
struct MalformedListing: Error {
  var line: String
}
