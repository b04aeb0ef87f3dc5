import Foundation
import LogEngine
import Synchronization
import Terminal

/// A file that results are written to instead of the screen.
final class FileOutput {
  /// The console that prints into the file.
  let console: Console
  let path: String
  private let sink: Sink

  /// Makes a file, in place of one of that name.
  init(_ path: String, beside console: Console) throws {
    self.path = path
    let sink = Sink(try UserFile(path: path, in: console).create())
    self.sink = sink
    self.console = Console(
      fileSystem: console.fileSystem,
      screen: .init(),
      output: OutputBuffer { sink.write($0) },
      writeNotice: { console.notice($0) },
      pause: console.pause
    )
  }

  /// Hands over what is pending.
  ///
  /// - Throws: The error that kept anything from being written.
  func flush() throws(StorageError) {
    console.flush()
    if let error = sink.takeError() { throw error }
  }

  private final class Sink: Sendable {
    private struct State {
      var offset = 0
      var error: StorageError?
    }

    private let file: any OpenFile
    private let state = Mutex(State())

    init(_ file: any OpenFile) { self.file = file }

    func write(_ data: Data) {
      state.withLock { state in
        guard state.error == nil else { return }
        do throws(StorageError) {
          let bytes = Array(data)
          var done = 0
          while done < bytes.count {
            done += try file.write(
              bytes.span.bytes.extracting(done..<bytes.count),
              at: state.offset + done
            )
          }
          state.offset += bytes.count
        } catch {
          state.error = error
        }
      }
    }

    func takeError() -> StorageError? {
      state.withLock { state in
        defer { state.error = nil }
        return state.error
      }
    }
  }
}
