import Foundation
import Testing

@testable import Terminal

#if os(Linux)
@Suite struct `Standard error that takes nothing` {
  @Test func `does not end a command`() async {
    await #expect(processExitsWith: .success) {
      let full = open("/dev/full", O_WRONLY)
      precondition(full >= 0 && dup2(full, STDERR_FILENO) == STDERR_FILENO)
      Terminal.notice("a notice")
      Terminal.report(ToolError("an error"))
      Terminal.draw("half of it")
      _ = close(STDERR_FILENO)
      Terminal.notice("a notice")
    }
  }
}
#endif
