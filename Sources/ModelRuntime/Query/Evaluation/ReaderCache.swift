/// The readers of one expression for the classes of rows met so far.
final class ReaderCache<Value> {
  private let make: (ModelDescriptor) -> RowReader<Value>
  private var known: [(descriptor: ModelDescriptor, reader: RowReader<Value>)] = []

  init(_ make: @escaping (ModelDescriptor) -> RowReader<Value>) { self.make = make }

  func reader(for descriptor: ModelDescriptor) -> RowReader<Value> {
    // A class and its subclasses: a few, and nearly always one.
    for entry in known where entry.descriptor === descriptor { return entry.reader }
    let reader = make(descriptor)
    known.append((descriptor, reader))
    return reader
  }
}
