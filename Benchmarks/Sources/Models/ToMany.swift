import Foundation
import Harness
import SwiftData

/// Appending one element to a to-many and saving, when it is short and when it is long.
struct ToMany {
  let plan: Plan

  func run(_ report: Report) throws {
    try withFolder(plan, "to-many") { folder in
      let short = try appender(folder.appending(path: "short"), .appendTo10, count: 10)
      let long = try appender(
        folder.appending(path: "long"),
        .appendTo100000,
        count: 100_000,
        comparedWith: .init(.appendTo10, .models)
      )
      report.add(try RoundRobin(rounds: plan.choose(quick: 9, full: 25), [short, long]).run())
    }
  }

  private func appender(
    _ folder: URL,
    _ workload: Workload,
    count: Int,
    comparedWith reference: Entrant.Key? = nil
  ) throws -> Entrant {
    let container = try ModelContainer(
      for: Schema([Album.self, Photo.self]),
      configurations: [ModelStore.configuration(folder, .relaxed)]
    )
    let context = ModelContext(container)
    func makeAlbum() throws -> Album {
      let album = Album(title: "All")
      context.insert(album)
      album.photos = (0..<count).map(Photo.init)
      try context.save()
      return album
    }
    var album = try makeAlbum()
    return Entrant(
      workload,
      .models,
      settings: "\(ModelStore.settings(.relaxed)), one element appended and saved",
      comparedWith: reference,
      targets: reference == nil ? [] : [Target(.rowsPerSecond, .share, .atLeast(0.8))]
    ) {
      // A short list would soon be a long one.
      if album.photos.count > 2 * count { album = try makeAlbum() }
      return try timeRows(10) {
        for number in 0..<10 {
          album.photos.append(Photo(number: count + number))
          try context.save()
        }
      }
    }
  }
}
