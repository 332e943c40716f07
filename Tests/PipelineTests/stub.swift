enum PipelineTestStub {}
