import Foundation
import Testing

@testable import ModelRuntime

#if os(Linux)
@Suite struct `Plans that are printed where there is no room` {
  @Test func `do not end the process`() async {
    await #expect(processExitsWith: .success) {
      let full = open("/dev/full", O_WRONLY)
      precondition(full >= 0 && dup2(full, STDERR_FILENO) == STDERR_FILENO)
      PlanPrinting.isEnabled = true
      let context = ModelContext(try makeLibrary())
      let books = try context.fetch(FetchDescriptor<Book>())
      precondition(books.isEmpty)
    }
  }
}
#endif
