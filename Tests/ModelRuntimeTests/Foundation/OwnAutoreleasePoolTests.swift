import ModelRuntime
import Testing

// As apps that were brought to Linux before have one.
private func autoreleasepool<R>(invoking body: () throws -> R) rethrows -> (R, isOwn: Bool) {
  (try body(), true)
}

@Suite struct `An autorelease pool of an app's own` {
  @Test func `is taken in place of the one that is supplied`() {
    #expect(autoreleasepool { 1 }.isOwn)
    #expect(autoreleasepool(invoking: { 2 }).isOwn)
  }
}
