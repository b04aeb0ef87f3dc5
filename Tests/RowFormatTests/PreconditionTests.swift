import RowFormat
import Testing

@Suite struct `A caller's mistake ends the process` {
  @Test func `when a key needs more than 48 bits`() async {
    await #expect(processExitsWith: .failure) {
      _ = RowReference(table: 1, key: RowReference.maximumKey + 1)
    }
  }

  @Test func `when variable columns are written out of order`() async {
    await #expect(processExitsWith: .failure) {
      var writer = RowWriter()
      writer.begin(RowLayout([.text, .text]))
      writer.append(1, text: "second")
      writer.append(0, text: "first")
    }
  }

  @Test(arguments: [-1, 9])
  func `when a buffer is cut back to more than it has, or less than nothing`(count: Int) async {
    await #expect(processExitsWith: .failure) { [count] in
      var buffer = ByteBuffer()
      buffer.append(1 as UInt64)
      buffer.truncate(to: count)
    }
  }
}
