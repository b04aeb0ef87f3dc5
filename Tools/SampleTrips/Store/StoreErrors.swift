import Foundation
import JSONStore
import SwiftData
import Terminal

#if PostgreSQL
import PostgresStore
#endif

/// Runs work on a store, and turns what the store throws into words its user can act on.
func explainingStoreErrors<Result>(
  at place: StorePlace,
  _ work: () throws -> Result
) throws -> Result {
  #if PostgreSQL
  do {
    return try explainingFileErrors(at: place, work)
  } catch let error as PostgresStoreError {
    throw ToolError(
      "the server does not keep the trips",
      place: place.name,
      found: error.localizedDescription,
      advice: "check the address, and that the server runs"
    )
  }
  #else
  return try explainingFileErrors(at: place, work)
  #endif
}

private func explainingFileErrors<Result>(
  at place: StorePlace,
  _ work: () throws -> Result
) throws -> Result {
  do {
    return try work()
  } catch LogStoreError.storage(let error, _, _) {
    throw ToolError(error, at: place.name)
  } catch LogStoreError.location(let path, let reason) {
    throw ToolError("the store cannot be made there", place: path, found: reason)
  } catch let error as LogStoreError {
    throw ToolError(
      "the store was made with other models",
      place: place.name,
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
      place: place.name,
      found: error.localizedDescription,
      advice: "check the path, its permissions and the disk"
    )
  }
}
