/// A user's action at a keyboard, as a line editor sees it.
public enum Key: Hashable, Sendable {
  /// A character to be inserted: never one that controls a terminal.
  case text(Unicode.Scalar)
  case enter, tab, backspace, delete, escape
  case left, right, wordLeft, wordRight, home, end, up, down
  /// Removals whose text ``yank`` brings back.
  case killToEnd, killToStart, killWordLeft, killWordRight
  case yank
  /// Exchanges the characters before and behind the cursor.
  case transpose
  /// Searches in the history, or continues to the match before.
  case search
  case clearScreen
  /// Abandons the line.
  case interrupt
  /// Ends the input in an empty line, and is ``delete`` in any other.
  case endOfInput
  /// Stops the process until its shell continues it.
  case suspend
  /// Ends a search without taking its result.
  case abort
}

extension Key {
  /// The key of a control character; `nil` if it means nothing.
  init?(control byte: UInt8) {
    switch byte {
    case 0x01: self = .home
    case 0x02: self = .left
    case 0x03: self = .interrupt
    case 0x04: self = .endOfInput
    case 0x05: self = .end
    case 0x06: self = .right
    case 0x07: self = .abort
    case 0x08, 0x7F: self = .backspace
    case 0x09: self = .tab
    case 0x0A, 0x0D: self = .enter
    case 0x0B: self = .killToEnd
    case 0x0C: self = .clearScreen
    case 0x0E: self = .down
    case 0x10: self = .up
    case 0x12: self = .search
    case 0x14: self = .transpose
    case 0x15: self = .killToStart
    case 0x17: self = .killWordLeft
    case 0x19: self = .yank
    case 0x1A: self = .suspend
    default: return nil
    }
  }

  /// The key that comes as escape and a character, as terminals send it for Alt.
  init?(alternate byte: UInt8) {
    switch byte {
    case UInt8(ascii: "b"), UInt8(ascii: "B"): self = .wordLeft
    case UInt8(ascii: "f"), UInt8(ascii: "F"): self = .wordRight
    case UInt8(ascii: "d"), UInt8(ascii: "D"): self = .killWordRight
    case 0x08, 0x7F: self = .killWordLeft
    default: return nil
    }
  }

  /// The key of a control sequence, as `ESC [ 1 ; 5 C`; `nil` if it means nothing here.
  ///
  /// - Parameters:
  ///   - parameters: The numbers between the bracket and the last byte.
  ///   - final: The last byte.
  init?(sequence parameters: [Int], final: UInt8) {
    // Behind the first number: 1 and a bit for each key held down; shift alone changes nothing here.
    let modifiers = parameters.count > 1 ? max(parameters[1] - 1, 0) : 0
    let isByWord = modifiers & 0b110 != 0
    switch final {
    case UInt8(ascii: "A"): self = .up
    case UInt8(ascii: "B"): self = .down
    case UInt8(ascii: "C"): self = isByWord ? .wordRight : .right
    case UInt8(ascii: "D"): self = isByWord ? .wordLeft : .left
    case UInt8(ascii: "H"): self = .home
    case UInt8(ascii: "F"): self = .end
    case UInt8(ascii: "~"):
      switch parameters.first ?? 0 {
      case 1, 7: self = .home
      case 3: self = isByWord ? .killWordRight : .delete
      case 4, 8: self = .end
      default: return nil
      }
    default: return nil
    }
  }
}
