/// Turns the bytes that a terminal sends into keys, however they are cut into pieces.
///
/// UTF-8 that is broken becomes U+FFFD; sequences that mean nothing here are read to their end and dropped, so that no
/// part of them is taken for text.
public struct KeyDecoder: Sendable {
  private enum State: Hashable {
    case ground
    /// Behind an escape byte.
    case escape
    /// Behind `ESC [`: numbers come, then a last byte.
    case sequence(parameters: [Int])
    /// Behind `ESC O`: one byte comes.
    case singleShift
    /// Within a character of UTF-8.
    case character(bytes: [UInt8], length: Int)
  }

  private var state = State.ground

  /// Number of parameters of a sequence that are kept; further ones are dropped.
  private static let parameterLimit = 8

  public init() {}

  /// Whether an escape byte was read last, which is a key of its own if nothing follows soon.
  public var isWaiting: Bool { state == .escape }

  /// Takes the escape byte that was read last for a key.
  public mutating func flush() -> [Key] {
    guard isWaiting else { return [] }
    state = .ground
    return [.escape]
  }

  /// Reads a byte.
  ///
  /// - Returns: The keys that are complete with it: none within a sequence, two if a sequence was broken off.
  public mutating func read(_ byte: UInt8) -> [Key] {
    switch state {
    case .ground: return ground(byte)
    case .escape: return escape(byte)
    case .sequence(let parameters): return sequence(parameters, byte)
    case .singleShift:
      state = .ground
      return Key(sequence: [], final: byte).map { [$0] } ?? []
    case .character(let bytes, let length): return character(bytes, length, byte)
    }
  }

  private mutating func ground(_ byte: UInt8) -> [Key] {
    switch byte {
    case 0x1B:
      state = .escape
      return []
    case 0x00...0x1F, 0x7F: return Key(control: byte).map { [$0] } ?? []
    case 0x20...0x7E: return [.text(Unicode.Scalar(byte))]
    case 0xC2...0xDF: state = .character(bytes: [byte], length: 2)
    case 0xE0...0xEF: state = .character(bytes: [byte], length: 3)
    case 0xF0...0xF4: state = .character(bytes: [byte], length: 4)
    default: return [.text("\u{FFFD}")]
    }
    return []
  }

  private mutating func escape(_ byte: UInt8) -> [Key] {
    state = .ground
    switch byte {
    case UInt8(ascii: "["): state = .sequence(parameters: [])
    case UInt8(ascii: "O"): state = .singleShift
    case 0x1B:
      state = .escape
      return [.escape]
    default:
      if let key = Key(alternate: byte) { return [key] }
      // A control character means the same behind an escape; text behind one means nothing.
      return byte < 0x20 ? [.escape] + ground(byte) : []
    }
    return []
  }

  private mutating func sequence(_ parameters: [Int], _ byte: UInt8) -> [Key] {
    var parameters = parameters
    switch byte {
    case 0x30...0x39:
      if parameters.isEmpty { parameters = [0] }
      let last = parameters.count - 1
      parameters[last] = min(parameters[last] * 10 + Int(byte) - 0x30, 0xFFFF)
      state = .sequence(parameters: parameters)
      return []
    case UInt8(ascii: ";"):
      if parameters.isEmpty { parameters = [0] }
      if parameters.count < Self.parameterLimit { parameters.append(0) }
      state = .sequence(parameters: parameters)
      return []
    case 0x20...0x3F: return []
    case 0x40...0x7E:
      state = .ground
      return Key(sequence: parameters, final: byte).map { [$0] } ?? []
    default:
      // The sequence was broken off.
      state = .ground
      return ground(byte)
    }
  }

  private mutating func character(_ bytes: [UInt8], _ length: Int, _ byte: UInt8) -> [Key] {
    guard 0x80...0xBF ~= byte else {
      state = .ground
      return [.text("\u{FFFD}")] + ground(byte)
    }
    let bytes = bytes + [byte]
    if bytes.count < length {
      state = .character(bytes: bytes, length: length)
      return []
    }
    state = .ground
    let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
    guard scalars.count == 1, let scalar = scalars.first else { return [.text("\u{FFFD}")] }
    return scalar.isControl ? [] : [.text(scalar)]
  }
}
