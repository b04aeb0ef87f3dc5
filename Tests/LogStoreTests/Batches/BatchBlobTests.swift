import LogStore
import SwiftData
import Testing

private enum Gallery {
  struct Stroke: Codable, Equatable { var points: [Int] = [] }

  @Model final class Picture {
    @Attribute(.unique) var code: Int
    @Attribute(.externalStorage) var image: Data?
    @Attribute(.externalStorage, .codable) var stroke = Stroke()
    var title: String = ""
    @Attribute(.externalStorage) var thumbnail: Data?
    init(_ code: Int) { self.code = code }
  }
}

private typealias Picture = Gallery.Picture

@Suite struct `Batches of values with external storage` {
  private let folder: TemporaryFolder
  private let url: URL
  private let context: ModelContext
  private let large = Data((0..<5000).map { UInt8($0 % 251) })
  private let small = Data([1, 2, 3])

  init() throws {
    folder = try TemporaryFolder()
    url = folder.url.appending(path: "pictures.store")
    var configuration = LogStoreConfiguration(url: url)
    configuration.externalStorageThreshold = 1000
    context = ModelContext(try ModelContainer(for: Picture.self, configurations: configuration))
  }

  private var fileCount: Int {
    let folder = url.appending(path: "blobs")
    let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (found?.compactMap { $0 as? URL } ?? []).count { $0.pathExtension == "blob" }
  }

  private func pictures() throws -> [Picture] {
    try ModelContext(context.container).fetch(
      FetchDescriptor<Picture>(sortBy: [SortDescriptor(\.code)])
    )
  }

  @Test func `have large values in files and small ones in the row, inserted or upserted`() throws {
    let inserted: [(Int, Data?)] = [(1, large), (2, small)]
    try context.batchInsert(Picture.self, \.code, \.image, rows: inserted)
    #expect(fileCount == 1)
    // New ones, whose values are in the order of the columns.
    let upserted: [(Int, Data?)] = [(3, large), (4, small), (5, nil), (3, large)]
    try context.batchUpsert(Picture.self, \.code, \.image, rows: upserted)
    #expect(fileCount == 2)
    #expect(try pictures().map(\.image) == [large, small, large, small, nil])
  }

  @Test func `keep files of values that an upsert does not name`() throws {
    let rows: [(Data?, Int, Data?)] = [(large, 1, large), (large, 2, small)]
    try context.batchUpsert(Picture.self, \.thumbnail, \.code, \.image, rows: rows)
    #expect(fileCount == 3)
    let stroke = Gallery.Stroke(points: Array(0..<3000))
    try context.batchUpsert(Picture.self, \.code, \.title, \.stroke, rows: [(1, "a", stroke)])
    #expect(fileCount == 4)
    let pictures = try pictures()
    #expect(pictures.map(\.image) == [large, small])
    #expect(pictures.map(\.thumbnail) == [large, large])
    #expect(pictures[0].stroke == stroke && pictures[0].title == "a")
  }

  @Test func `have values of all columns in files`() throws {
    for title in ["first", "second"] {
      let row: (Int, Data?, Gallery.Stroke, String, Data?) =
        (1, large, Gallery.Stroke(), title, small)
      try context.batchUpsert(
        Picture.self,
        \.code,
        \.image,
        \.stroke,
        \.title,
        \.thumbnail,
        rows: [row]
      )
    }
    let picture = try #require(try pictures().first)
    #expect(picture.image == large && picture.title == "second" && picture.thumbnail == small)
    #expect(fileCount >= 1)
  }
}
