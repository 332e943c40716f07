enum VipsTestStub {}
