module darkroom

go 1.19
