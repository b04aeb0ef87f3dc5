import LogEngine
import RowFormat
import Testing

@Suite struct `A caller's mistake ends the process` {
  @Test func `when a batch is committed to another store than it was made for`() async {
    await #expect(processExitsWith: .failure) {
      let disk = InMemoryFileSystem()
      let one = try StorageEngine.open(at: "one", fileSystem: disk)
      let other = try StorageEngine.open(at: "other", fileSystem: disk)
      try one.apply([.addTable(name: "T")])
      var batch = one.makeBatch()
      try other.commit(&batch)
    }
  }
}
