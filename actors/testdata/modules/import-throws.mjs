throw new Error('import exploded')
