import Testing

@testable import Terminal

/// A line that a test types at a terminal that remembers what it shows.
struct TypedLine {
  private(set) var editor: LineEditor
  private(set) var screen: ScreenDouble
  private(set) var event: LineEditor.Event?
  private var decoder = KeyDecoder()
  private let prompt: String

  init(
    prompt: String = "> ",
    width: Int = 40,
    history: [String] = [],
    complete: @escaping Completion.Source = { _ in .none }
  ) {
    self.prompt = prompt
    var lines = LineHistory()
    for line in history { lines.add(line) }
    editor = LineEditor(prompt: prompt, width: width, history: lines, complete: complete)
    screen = ScreenDouble(width: width)
    screen.write(editor.takeOutput())
  }

  var text: String { editor.buffer.text }

  /// Types text as a terminal sends it; `^X` stands for Ctrl-X, and `<left>` for a key.
  mutating func type(_ text: String) { send(Self.bytes(text)) }

  /// Sends bytes.
  mutating func send(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      for key in decoder.read(byte) where event == nil { event = editor.handle(key) }
      screen.write(editor.takeOutput())
    }
    let keys = decoder.flush()
    for key in keys where event == nil { event = editor.handle(key) }
    screen.write(editor.takeOutput())
  }

  /// Whether the screen shows the prompt and the line, and its cursor is where the line's is.
  func isShown() -> Bool {
    screen.text.hasSuffix(prompt + text)
      && screen.textBeforeCursor.hasSuffix(prompt + editor.buffer.head) && screen.unknown.isEmpty
  }

  private static let keys: [String: String] = [
    "<up>": "\u{1B}[A", "<down>": "\u{1B}[B", "<right>": "\u{1B}[C", "<left>": "\u{1B}[D",
    "<home>": "\u{1B}[H", "<end>": "\u{1B}OF", "<delete>": "\u{1B}[3~", "<tab>": "\t",
    "<enter>": "\r", "<backspace>": "\u{7F}", "<wordLeft>": "\u{1B}[1;5D",
    "<wordRight>": "\u{1B}f", "<killWord>": "\u{1B}d", "<esc>": "\u{1B}",
  ]

  private static func bytes(_ text: String) -> [UInt8] {
    var rest = text[...]
    var bytes: [UInt8] = []
    while let character = rest.first {
      if let key = keys.first(where: { rest.hasPrefix($0.key) }) {
        bytes += Array(key.value.utf8)
        rest.removeFirst(key.key.count)
      } else if character == "^", let letter = rest.dropFirst().first?.asciiValue {
        bytes.append(letter & 0x1F)
        rest.removeFirst(2)
      } else {
        bytes += Array(String(character).utf8)
        rest.removeFirst()
      }
    }
    return bytes
  }
}
