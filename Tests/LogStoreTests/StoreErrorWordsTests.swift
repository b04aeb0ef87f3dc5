import Foundation
import LogEngine
import LogStore
import Testing

@Suite struct `An error of the engine that reaches an app` {
  private let error = LogStoreError.storage(
    .noSpace(path: "/data/trips.store/log/7.seg", needed: 4096),
    while: .saving,
    path: "/data/trips.store"
  )

  @Test func `says what happened and what to try, in print and localized`() {
    let expected =
      "saving /data/trips.store: the disk is full (/data/trips.store/log/7.seg): "
      + "expected room for 4096 bytes; make room and try again: what was saved before is safe"
    #expect("\(error)" == expected)
    #expect(error.localizedDescription == expected)
  }

  @Test func `gives a user interface its parts`() {
    let error: any LocalizedError = StorageError.unsupportedVersion(
      path: "/data/trips.store",
      found: 9,
      supported: 1
    )
    #expect(error.errorDescription?.contains("newer version") == true)
    #expect(error.failureReason == "Expected format 1 or older, found format 9.")
    #expect(error.recoverySuggestion == "use the version that wrote it")
  }
}
