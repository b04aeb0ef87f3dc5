import Foundation
import Synchronization
import Terminal

/// How a command ended; the module Testing has a type of the same name.
typealias ToolStatus = ExitStatus

/// Standard output as a test reads it.
final class CapturedOutput: Sendable {
  private let data = Mutex(Data())

  /// What was written so far.
  var text: String { data.withLock { String(decoding: $0, as: UTF8.self) } }

  func makeBuffer() -> OutputBuffer {
    OutputBuffer { [self] piece in data.withLock { $0.append(piece) } }
  }
}
