import Foundation
import GRDBPeer
import SwiftData
import Workloads

/// Creates models, inserts them in one context that lives on, saves, and lets them go.
final class ModelSaver: TripSaver {
  private let context: ModelContext

  init(_ folder: URL, _ durability: ModelStore.Durability) throws {
    context = ModelContext(try ModelStore.open(folder, durability))
  }

  func save(_ records: ArraySlice<TripRecord>) throws {
    for record in records { context.insert(Trip(record)) }
    try context.save()
  }
}
