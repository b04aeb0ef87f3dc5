import Foundation
import JSONStore
import SwiftData
import Terminal

/// Runs work on a store, and turns what the store throws into words its user can act on.
func explainingStoreErrors<Result>(at url: URL, _ work: () throws -> Result) throws -> Result {
  do {
    return try work()
  } catch LogStoreError.storage(let error, _, _) {
    throw ToolError(error, at: url.path)
  } catch LogStoreError.location(let path, let reason) {
    throw ToolError("the store cannot be made there", place: path, found: reason)
  } catch let error as LogStoreError {
    throw ToolError(
      "the store was made with other models",
      place: url.path,
      found: "\(error)",
      advice: "give another --url"
    )
  } catch JSONStoreError.notAnArchive(let path, let reason) {
    throw ToolError(
      "the file is no archive of trips, or is damaged",
      place: path,
      expected: "a JSON array of snapshots",
      found: reason,
      advice: "give another --url",
      status: .damaged
    )
  } catch let error as CocoaError {
    throw ToolError(
      "the system refused a file of the store",
      place: url.path,
      found: error.localizedDescription,
      advice: "check the path, its permissions and the disk"
    )
  }
}
